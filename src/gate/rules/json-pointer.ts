import { unescapeStep } from '../../base/json-pointer.ts';

/** One step of a pointer into arguments: every element, or one member. */
export type PointerStep =
  | { readonly kind: 'every' }
  /** `index` is -1 if the name is not an index of a list. */
  | { readonly kind: 'member'; readonly name: string; readonly index: number };

const MAX_STEPS = 32;
const INDEX = /^(?:0|[1-9]\d{0,8})$/;
const EVERY: PointerStep = Object.freeze({ kind: 'every' });

/**
 * Parses a JSON pointer (RFC 6901) in which `*` means every element of a list or every member of an object. Undefined if the text is no
 * pointer.
 */
export function parsePointer(text: string): readonly PointerStep[] | undefined {
  if (text === '') return [];
  if (!text.startsWith('/') || /~(?![01])/.test(text)) return undefined;
  const steps = text
    .slice(1)
    .split('/')
    .map((part): PointerStep => {
      if (part === '*') return EVERY;
      const name = unescapeStep(part);
      return { kind: 'member', name, index: INDEX.test(name) ? Number(name) : -1 };
    });
  return steps.length > MAX_STEPS ? undefined : Object.freeze(steps);
}
