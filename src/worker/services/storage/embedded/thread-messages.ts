import type { PlaneErrorCode } from '../../../../domain/errors/errors.ts';
import type { JsonObject } from '../../../../base/json.ts';
import type { ScopedStore } from '../scoped-store.ts';

export const SERVICES_FILE = 'services.sqlite';

export interface ThreadRequest {
  readonly id: number;
  readonly method: Exclude<keyof ScopedStore, 'close'>;
  readonly args: readonly unknown[];
}

export type ThreadAnswer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: { readonly code: PlaneErrorCode; readonly facts: JsonObject } };
