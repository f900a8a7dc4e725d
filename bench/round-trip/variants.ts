import type { Variant } from './variant.ts';

/** Each variant is imported only when it is used, so that a process loads only the libraries of its own variant. */
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
/** A variant as this build has it, or as the build of `--against` has it. */
export type MeasuredName = VariantName | `${VariantName}@against`;
/** Variants that run only when they are named: the same plane with one thing added or removed. */
const NAMED_ONLY: readonly VariantName[] = ['gated', 'ungated', 'counted', 'traced', 'sampled'];
export const VARIANT_NAMES = (Object.keys(VARIANTS) as VariantName[]).filter((name) => !NAMED_ONLY.includes(name));

/** The variants that the others are compared with: times and CPU with `LIMIT`, calls per second with `PEER` and `NAIVE`. */
export const LIMIT: VariantName = 'raw-ioredis';
export const PEER: VariantName = 'bullmq';
export const NAIVE: VariantName = 'naive-parallel';
/** The variants whose ratios are kept in a baseline. */
export const PRODUCT: readonly VariantName[] = ['sallyport-read', 'sallyport-unsafe', 'embedded'];
