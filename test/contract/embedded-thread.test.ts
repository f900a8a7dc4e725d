import { ALL_TOPICS, describeStoreContract, type Topic } from './contract.ts';
import { createEmbeddedBackend } from './embedded-backend.ts';

/** What depends on how a store is reached: all kinds of answers, errors and large values, and several connections at once. */
const OVER_THE_WIRE: readonly Topic[] = ['accept', 'settle', 'replies', 'waiters', 'incarnation', 'races'];

const isLong = process.env['SALLYPORT_LONG_TESTS'] === '1';

describeStoreContract(
  'embedded (over its thread and socket)',
  createEmbeddedBackend,
  isLong ? ALL_TOPICS : OVER_THE_WIRE,
);
