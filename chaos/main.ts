// `npm run chaos`: real processes, real stores, faults on a seeded schedule, and a checker that reads what they left behind.
import { LAYERS } from './layers/index.ts';

console.log(`${LAYERS.length} layers`);
