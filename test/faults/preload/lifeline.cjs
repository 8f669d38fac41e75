// Ends a service when the suite that started it is gone, however that ended: its standard input is the lifeline.
process.stdin.once('end', () => process.exit(1)).resume();
process.stdin.unref?.();
