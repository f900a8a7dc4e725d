import type { ContentBlock } from './content.ts';
import type { Outcome } from './outcome.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { sha256 } from '../../base/sha256.ts';
import { wellFormed } from '../../base/well-formed.ts';

/** SHA-256 of an outcome's result: canonical JSON of content, structured value and message. Bytes are replaced by their own SHA-256. */
export function resultDigest({ content, structured, error }: Outcome): string {
  return sha256(
    canonicalJson({
      content: content.map(withDigests),
      ...(structured === undefined ? {} : { structured }),
      // A tool's message may have half of a surrogate pair, which canonical JSON refuses.
      ...(error === undefined ? {} : { message: wellFormed(error.message) }),
    }),
  );
}

function withDigests(block: ContentBlock): object {
  return 'bytes' in block ? { ...block, bytes: sha256(block.bytes) } : block;
}
