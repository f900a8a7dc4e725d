import type { Config } from '../config/config-schema.ts';
import type { Approval } from '../domain/policy/approval.ts';
import type { Catalog } from '../domain/tool/catalog.ts';
import { entriesOf } from '../domain/tool/module.ts';
import { renderArguments, renderQuestion, type RenderedQuestion } from '../gate/approvals/render-question.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import { nameSecretsWith } from '../observe/redact/mask-text.ts';
import { findQuestionMasks } from '../observe/redact/question-masks.ts';
import type { RedactionKey } from '../observe/redact/redaction-key.ts';
import { redactionKeyFor } from './redaction-key-for.ts';
import { storeOptionsOf } from './store-options.ts';

export type ApprovalRenderer = (approval: Approval, options?: { readonly revealed?: boolean }) => ShownApproval;

/** Creates a renderer that shows questions with the marks that the worker put into them when it asked. */
export async function approvalRenderer(store: CatalogReader, config: Config): Promise<ApprovalRenderer> {
  return rendererOf(await store.readCatalog(), redactionKeyFor(storeOptionsOf(config), config.redaction.keyFile));
}

/**
 * Creates a renderer. It uses the catalog only to mask arguments that an approver put in place of the original ones. For the original ones,
 * the question itself says what to mask.
 */
export function rendererOf(catalog: Catalog, key: RedactionKey): ApprovalRenderer {
  const tools = new Map(catalog.modules.flatMap(entriesOf).map((tool) => [tool.id, tool]));
  const nameSecret = nameSecretsWith(key);
  return (approval, { revealed = false } = {}) => {
    const { question, editedArguments } = approval;
    const shown = renderQuestion(question, { revealed, nameSecret });
    if (editedArguments === undefined) return { approval, shown };
    const masks = findQuestionMasks(editedArguments, tools.get(question.tool) ?? NO_TOOL);
    return { approval, shown, edited: renderArguments(editedArguments, masks, nameSecret) };
  };
}

/** Used in place of a tool that is no longer published. */
const NO_TOOL = { inputSchema: {}, privileged: false };

export interface ShownApproval {
  readonly approval: Approval;
  readonly shown: RenderedQuestion;
  readonly edited?: RenderedQuestion['arguments'];
}
