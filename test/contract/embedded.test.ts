import { describeStoreContract } from './contract.ts';
import { createEmbeddedBackend } from './embedded-backend.ts';

describeStoreContract('embedded', createEmbeddedBackend);
