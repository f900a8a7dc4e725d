// Keeps one core busy until its parent is gone. Started by test-load.mjs, with a channel that tells it so.
const SLICE_MS = 50;

process.on('disconnect', () => process.exit(0));

function spin() {
  const until = performance.now() + SLICE_MS;
  while (performance.now() < until);
  setImmediate(spin);
}
spin();
