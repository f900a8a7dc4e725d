import { openEmbeddedScopes } from '../../src/worker/services/storage/embedded/open-embedded.ts';
import { temporaryFolder } from '../support/process.ts';
import { describeServicesContract } from './contract.ts';

describeServicesContract('the embedded store', async () => {
  const folder = temporaryFolder('sallyport services');
  return { open: () => openEmbeddedScopes(folder.path), destroy: async () => folder.remove() };
});
