// A worker of the soak. WORKER holds its options as JSON. Asked over IPC, it says what it keeps in memory.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { startWorker } from '../../../../dist/exports/worker.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');

const worker = await startWorker({ health: false, ...JSON.parse(process.env.WORKER) });
worker.failed.catch((error) => {
  console.log(`failed ${error.code}`);
  process.exit(70);
});
process.on('message', ({ id }) => {
  // Twice: what only a weak map held is gone after the second.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.send({ id, answer: heapUsed + external });
});
console.log('ready');
