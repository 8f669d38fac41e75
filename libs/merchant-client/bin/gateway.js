#!/usr/bin/env node
// Not the built file itself: npm links commands when it installs, and in this repository the build comes after that.
require('../dist/cli/main.js');
