import type { JsonValue } from '../../base/json.ts';
import type { ToolDeclaration } from '../../domain/tool/tool.ts';
import type { Redactor } from '../../domain/ports/redactor.ts';
import { canonicalJson } from '../../base/canonical-json.ts';
import { maskText, maskWith, type Mask } from './mask-text.ts';
import { mayHoldSecret } from './may-hold-secret.ts';
import { redactJson } from './redact-json.ts';
import type { RedactionKey } from './redaction-key.ts';
import { secretsOfSchema } from './schema-secrets.ts';
import { endOf, startOf } from '../../base/cut-text.ts';

/**
 * Longer texts are cut for display. The beginning and the end are kept: an attacker would hide things in an end that is not shown.
 * @internal
 */
export const SHOWN_CHARACTERS = 1024;
const SHOWN_TAIL = 256;

export function createRedactor(key: RedactionKey): Redactor {
  const mask = maskWith(key);
  return {
    arguments: (canonical, tool) => cut(redactCanonical(canonical, tool, mask)),
    text: (text) => maskText(text, mask),
  };
}

function redactCanonical(
  canonical: string,
  tool: Pick<ToolDeclaration, 'inputSchema'> | undefined,
  mask: Mask,
): string {
  const schema = secretsOfSchema(tool?.inputSchema);
  if (schema === undefined && !mayHoldSecret(canonical)) return canonical;
  const value = parse(canonical);
  if (value === undefined) return schema === undefined ? maskText(canonical, mask) : JSON.stringify(mask(canonical));
  let masked = false;
  const redacted = redactJson(value, schema, mask, () => (masked = true));
  return masked ? canonicalJson(redacted) : canonical;
}

function parse(canonical: string): JsonValue | undefined {
  try {
    return JSON.parse(canonical) as JsonValue;
  } catch {
    return undefined;
  }
}

function cut(text: string): string {
  if (text.length <= SHOWN_CHARACTERS) return text;
  const note = ` … (${text.length} characters) … `;
  return startOf(text, SHOWN_CHARACTERS - SHOWN_TAIL - note.length) + note + endOf(text, SHOWN_TAIL);
}
