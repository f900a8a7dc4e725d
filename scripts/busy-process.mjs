// Keeps one core busy until its parent process is gone. test-load.mjs starts it with an IPC channel; the channel closes when the parent ends.
const SLICE_MS = 50;

process.on('disconnect', () => process.exit(0));

function spin() {
  const until = performance.now() + SLICE_MS;
  while (performance.now() < until);
  setImmediate(spin);
}
spin();
