import type { Variant } from './variant.ts';

/** Loaded one by one: a process holds the libraries of its own variant only. */
export const VARIANTS = {
  'raw-ioredis': async (): Promise<Variant> => (await import('./variants/raw-ioredis.ts')).rawIoredis,
  'raw-node-redis': async (): Promise<Variant> => (await import('./variants/raw-node-redis.ts')).rawNodeRedis,
  'naive-serial': async (): Promise<Variant> => (await import('./variants/naive.ts')).naiveSerial,
  'naive-parallel': async (): Promise<Variant> => (await import('./variants/naive.ts')).naiveParallel,
  bullmq: async (): Promise<Variant> => (await import('./variants/bullmq.ts')).bullmq,
  'sallyport-read': async (): Promise<Variant> => (await import('./variants/sallyport.ts')).sallyportRead,
  'sallyport-unsafe': async (): Promise<Variant> => (await import('./variants/sallyport.ts')).sallyportUnsafe,
  gated: async (): Promise<Variant> => (await import('./variants/sallyport.ts')).gated,
  ungated: async (): Promise<Variant> => (await import('./variants/sallyport.ts')).ungated,
  counted: async (): Promise<Variant> => (await import('./variants/telemetry.ts')).counted,
  traced: async (): Promise<Variant> => (await import('./variants/telemetry.ts')).traced,
  sampled: async (): Promise<Variant> => (await import('./variants/telemetry.ts')).sampled,
  embedded: async (): Promise<Variant> => (await import('./variants/sallyport.ts')).embedded,
} as const;

export type VariantName = keyof typeof VARIANTS;
/** Run when they are named: the same plane, with something more or less. */
const NAMED_ONLY: readonly VariantName[] = ['gated', 'ungated', 'counted', 'traced', 'sampled'];
export const VARIANT_NAMES = (Object.keys(VARIANTS) as VariantName[]).filter((name) => !NAMED_ONLY.includes(name));

/** What times and throughputs are compared with. */
export const LIMIT: VariantName = 'raw-ioredis';
export const PEER: VariantName = 'bullmq';
export const NAIVE: VariantName = 'naive-parallel';
/** Whose ratios a baseline keeps. */
export const PRODUCT: readonly VariantName[] = ['sallyport-read', 'sallyport-unsafe', 'embedded'];
