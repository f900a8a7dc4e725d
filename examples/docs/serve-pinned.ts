// #region pinned
import { servePinned } from 'sallyport';
import { connect } from 'sallyport/client';

const store = { store: 'embedded', folder: process.env['FOLDER'] ?? '.sallyport' } as const;
const pinned = await servePinned({ ...store, modules: process.env['MODULES'] ?? 'modules' });
const client = await connect({ ...store, pinned });
process.once('SIGTERM', async () => {
  await pinned.drain();
  await client.close();
});
// #endregion
