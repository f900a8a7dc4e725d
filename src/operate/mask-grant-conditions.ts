import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Grant } from '../domain/policy/approval.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import { indexTools } from '../domain/tool/catalog.ts';
import { maskConditions } from '../observe/redact/mask-conditions.ts';
import { maskWith } from '../observe/redact/mask-text.ts';
import type { RedactionKey } from '../observe/redact/redaction-key.ts';

/** Returns the conditions of a grant with marks in place of what the tool declares secret. */
export type MaskGrantConditions = (grant: Pick<Grant, 'tool' | 'toolDigest'>, conditions: string) => JsonObject[];

/**
 * Makes the function that masks. An approver who revealed a question may write a secret into the conditions of a grant, and others list
 * grants. The schema of a tool that was changed since is not used: it may no longer mark what it marked.
 */
export function grantConditionMasker(catalog: Catalog, key: RedactionKey): MaskGrantConditions {
  const tools = indexTools(catalog);
  const mask = maskWith(key);
  return ({ tool, toolDigest }, text) => {
    const published = tools.get(tool)?.tool;
    const schema = published?.digest === toolDigest ? published.inputSchema : undefined;
    const conditions = JSON.parse(text) as unknown;
    return Array.isArray(conditions) ? maskConditions(conditions.filter(isJsonObject), schema, mask) : [];
  };
}
