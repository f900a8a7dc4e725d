// #region worker
import { startWorker } from 'sallyport';

const worker = await startWorker({
  store: 'redis',
  redis: { url: process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379' },
  modules: process.env['MODULES'] ?? 'modules',
  pool: 'default',
  concurrency: 32,
  health: { port: 0 },
});
console.log('ready:', worker.healthUrl);
process.once('SIGTERM', () => void worker.drain());
worker.failed.catch((error: unknown) => {
  console.error(error);
  process.exit(69);
});
// #endregion
