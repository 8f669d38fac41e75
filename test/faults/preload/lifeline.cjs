// Ends a service when its standard input closes, so also when the suite that started it was killed.
process.stdin.once('end', () => process.exit(1)).resume();
process.stdin.unref?.();
