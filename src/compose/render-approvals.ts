import type { Config } from '../config/config-schema.ts';
import type { Approval } from '../domain/approval.ts';
import type { Catalog } from '../domain/catalog.ts';
import type { JsonObject } from '../domain/json.ts';
import { entriesOf } from '../domain/module.ts';
import {
  renderArguments,
  renderQuestion,
  type Redact,
  type RenderedQuestion,
} from '../gate/approvals/render-question.ts';
import type { Store } from '../ports/store.ts';
import { findMasked } from '../redact/create-redactor.ts';
import type { RedactionKey } from '../redact/redaction-key.ts';
import { canonicalJson } from '../wire/canonical-json.ts';
import { toVisibleJsonString } from '../wire/escape-text.ts';
import { redactionKeyFor } from './redaction-key-for.ts';
import { storeOptionsOf } from './settings-from-config.ts';

/** How questions are to be shown: what the published tool calls a secret is hidden, and what is one by its name or shape. */
export async function approvalRenderer(
  store: Pick<Store, 'readCatalog'>,
  config: Config,
): Promise<(approval: Approval) => ShownApproval> {
  return rendererOf(await store.readCatalog(), redactionKeyFor(storeOptionsOf(config), config.redaction.keyFile));
}

export function rendererOf(catalog: Catalog, key: RedactionKey): (approval: Approval) => ShownApproval {
  const tools = catalog.modules.flatMap(entriesOf);
  const schemas = new Map<string, JsonObject>(tools.map(({ id, inputSchema }) => [id, inputSchema]));
  return (approval) => {
    const { question, editedArguments } = approval;
    const inputSchema = schemas.get(question.tool) ?? {};
    const redact = (canonical: string): Redact => maskedIn(canonical, { inputSchema }, key);
    return {
      approval,
      shown: renderQuestion(question, redact(question.arguments)),
      ...(editedArguments === undefined ? {} : { edited: renderArguments(editedArguments, redact(editedArguments)) }),
    };
  };
}

/** A whole value is shown as its mark and its size, without quotes, so that no text can pass for one. */
function maskedIn(canonical: string, tool: { readonly inputSchema: JsonObject }, key: RedactionKey): Redact {
  const masked = new Map(
    findMasked(canonical, tool, key)
      .filter(({ kind }) => kind !== 'key')
      .map((one) => [one.pointer, one]),
  );
  return (pointer, value) => {
    const found = masked.get(pointer);
    if (found === undefined) return false;
    if (found.kind === 'text') return toVisibleJsonString(found.shown);
    return `${found.shown.slice(0, -1)}, ${Buffer.byteLength(canonicalJson(value))} bytes]`;
  };
}

export interface ShownApproval {
  readonly approval: Approval;
  readonly shown: RenderedQuestion;
  readonly edited?: RenderedQuestion['arguments'];
}
