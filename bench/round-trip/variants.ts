import type { Variant } from './variant.ts';

/** Loaded one by one: a process holds the libraries of its own variant only. */
export const VARIANTS = {
  'raw-ioredis': async (): Promise<Variant> => (await import('./variants/raw-ioredis.ts')).rawIoredis,
  'raw-node-redis': async (): Promise<Variant> => (await import('./variants/raw-node-redis.ts')).rawNodeRedis,
  bullmq: async (): Promise<Variant> => (await import('./variants/bullmq.ts')).bullmq,
  'sallyport-read': async (): Promise<Variant> => (await import('./variants/sallyport.ts')).sallyportRead,
  'sallyport-unsafe': async (): Promise<Variant> => (await import('./variants/sallyport.ts')).sallyportUnsafe,
  gated: async (): Promise<Variant> => (await import('./variants/sallyport.ts')).gated,
  ungated: async (): Promise<Variant> => (await import('./variants/sallyport.ts')).ungated,
  embedded: async (): Promise<Variant> => (await import('./variants/sallyport.ts')).embedded,
} as const;

export type VariantName = keyof typeof VARIANTS;
/** For the bench of the gate: the same plane twice. */
const OF_THE_GATE: readonly VariantName[] = ['gated', 'ungated'];
export const VARIANT_NAMES = (Object.keys(VARIANTS) as VariantName[]).filter((name) => !OF_THE_GATE.includes(name));

/** What times and throughputs are compared with. */
export const LIMIT: VariantName = 'raw-ioredis';
export const PEER: VariantName = 'bullmq';
