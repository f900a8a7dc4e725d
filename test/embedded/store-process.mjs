// Owns or joins the store in the given folder until it is told to close. Runs from dist, as a user's program would.
import { openEmbeddedStore } from '../../dist/stores/embedded/embedded-store.js';

const [folder, mode] = process.argv.slice(2);
const store = await openEmbeddedStore({ folder, mode });
process.on('message', async (message) => {
  if (message.kind === 'block') {
    process.send({ kind: 'blocking' });
    const until = performance.now() + message.ms;
    while (performance.now() < until);
    process.send({ kind: 'unblocked' });
  } else if (message.kind === 'close') {
    await store.close();
    process.exit(0);
  }
});
console.log(`open as ${store.role}`);
