import { describeStoreContract } from './contract.ts';
import { createInProcessBackend } from './embedded-backend.ts';

describeStoreContract('embedded', createInProcessBackend);
