import type { Layer } from './layer.ts';

export const LAYERS: readonly Layer[] = [];
