// A worker of the soak. WORKER holds its options as JSON. It answers each IPC message with its memory use in bytes.
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
  // Twice: objects that only a weak map held are freed by the second collection.
  collect();
  collect();
  const { heapUsed, external } = process.memoryUsage();
  process.send({ id, answer: heapUsed + external });
});
console.log('ready');
