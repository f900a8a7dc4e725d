import type { ApprovalQuestion } from '../domain/policy/approval.ts';
import { indexTools } from '../domain/tool/catalog.ts';
import { readDeclaration } from '../gate/policy/agent-schema.ts';
import { readTenant } from '../gate/policy/read-agents.ts';
import { findAgentWarnings } from '../gate/policy/agent-warnings.ts';
import type { Config } from '../config/config-schema.ts';
import { readPolicyValue } from '../gate/policy/policy-file.ts';
import { findContradiction } from '../gate/policy/contradictions.ts';
import { conditionsSchema } from '../gate/policy/rule-schema.ts';
import { findMisfits } from '../gate/policy/tool-problems.ts';
import { planeError } from '../domain/errors/errors.ts';
import type { JsonObject } from '../base/json.ts';
import { entriesOf } from '../domain/tool/module.ts';
import { nearNames } from '../base/near-names.ts';
import { standingOf } from '../gate/approvals/may-decide.ts';
import type { GatewayOperations } from '../gateway/operations.ts';
import type { AuditTrail } from '../domain/ports/audit-store.ts';
import type { CatalogReader } from '../domain/ports/catalog-store.ts';
import type { Log } from '../domain/ports/log.ts';
import type { OperatorStore } from '../domain/ports/store.ts';
import { cancelRequest, unsafeDigestOf } from '../stages/accept/cancel-request.ts';
import { canonicalJson } from '../base/canonical-json.ts';
import { encode } from '../base/message-pack.ts';
import type { AuditOptions } from './audit-options.ts';
import { changePaused, findTargetProblem } from './change-paused.ts';
import { changeAgents } from './declare-agents.ts';
import { createExplainer, explainPolicy } from './explain-policy.ts';
import { grantConditionMasker } from './mask-grant-conditions.ts';
import { redactionKeyFor } from './redaction-key-for.ts';
import { RELEASE } from '../base/release.ts';
import { rendererOf } from './render-approvals.ts';
import { setPolicy } from './set-policy.ts';
import { storeOptionsOf } from './store-options.ts';
import { verifyAudit } from './verify-audit.ts';
import { withdrawModules } from './withdraw-modules.ts';

export interface OperationNeeds {
  readonly store: OperatorStore;
  readonly trail: AuditTrail;
  readonly config: Config;
  readonly log: Log;
  readonly audit: Pick<AuditOptions, 'keys' | 'trustedKeys' | 'signEveryMs'>;
}

export function createOperations({ store, trail, config, log, audit }: OperationNeeds): GatewayOperations {
  // One key for the whole process: marks of the same secret look the same in everything that the process shows.
  const key = redactionKeyFor(storeOptionsOf(config), config.redaction.keyFile);
  return {
    release: RELEASE,
    async approvalRenderer() {
      const render = rendererOf(await store.readCatalog(), key);
      return (approval, options) => {
        const { shown, edited } = render(approval, options);
        const { title, description, reasons, detail, arguments: args, answers } = shown;
        const more = {
          ...(answers === undefined ? {} : { answers }),
          ...(detail === undefined ? {} : { detail }),
          ...(edited === undefined ? {} : { editedArguments: edited }),
        };
        return { title, description, reasons, arguments: args, ...more };
      };
    },
    explain: (asked) =>
      explainPolicy(store, asked, {
        policyFile: config.policyFile,
        warn: (error) => log.warn({ error }, 'places in the policy file are not told'),
      }),
    explainer: createExplainer,
    setPolicy: (policy, expectedVersion, who) =>
      setPolicy(store, readPolicyValue(policy, placeInBody, nearNames), who, expectedVersion),
    async pause({ resume, ...target }, who) {
      const problem = findTargetProblem(target);
      if (problem !== undefined) throw planeError('PARAMETER_INVALID', { problems: [problem.replace(/\.$/, '')] });
      return changePaused(store, target, resume, who);
    },
    async changeAgent({ name, tenant }, given, who) {
      const place = tenant === undefined ? {} : { tenant: readTenant(tenant) };
      if (given === null) return changeAgents(store, { declared: {}, removed: [name], warnings: [], ...place }, who);
      const { declaration, warnings } = readDeclaration(name, given, { placeOf: placeInBody, near: nearNames });
      return changeAgents(store, { declared: { [name]: declaration }, removed: [], warnings, ...place }, who);
    },
    withdrawModules: (request, who) => withdrawModules(store, request, who),
    agentWarnings({ name, tenant }, declaration, catalog) {
      const ids = catalog.modules.flatMap(entriesOf).map(({ id }) => id);
      const group = tenant === undefined ? 'agents' : `tenants.${tenant}.agents`;
      return findAgentWarnings({ [name]: declaration }, ids.length === 0 ? undefined : ids, nearNames, group);
    },
    async verifyAudit() {
      const { records, statements, notices, problem } = await verifyAudit(trail, store, audit);
      const problems = problem === undefined ? [] : [problem];
      return { checked: records, statements, notices: [...notices], problems };
    },
    async cancelCall(callId, { by }) {
      const tools = indexTools(await store.readCatalog());
      return store.cancelCall({
        ...cancelRequest(callId, config.worker.retentionMs, 'operator', by),
        ...(await unsafeDigestOf(callId, store, (tool) => tools.get(tool))),
      });
    },
    async resolveCall(callId, resolution, { by }) {
      const answer = await store.resolveCall({ callId, resolution, audit: encode({ resolution, by }) });
      if (answer === 'unknown') throw planeError('CALL_UNKNOWN', { callId });
      if (answer === 'resolved') return;
      const record = await store.readCall(callId);
      const state =
        record?.resolution === undefined ? (record?.state ?? 'gone') : `already resolved: ${record.resolution}`;
      throw planeError('CALL_NOT_INDETERMINATE', { callId, state });
    },
    standing: standingOf,
    async readConditions(given, question) {
      const conditions = await readConditions(store, given, question);
      const mask = grantConditionMasker(await store.readCatalog(), key);
      return { conditions, shown: mask(question, conditions) };
    },
    grantConditionMasker: async () => grantConditionMasker(await store.readCatalog(), key),
  };
}

/** The place of a problem in a request body, instead of a file and line. The problem itself names its member by its path. */
function placeInBody(): string {
  return 'body';
}

/** Max problems of the conditions of one grant that are listed one by one. */
const MAX_PROBLEMS = 32;

async function readConditions(
  store: CatalogReader,
  conditions: readonly JsonObject[],
  { tool, toolDigest }: Pick<ApprovalQuestion, 'tool' | 'toolDigest'>,
): Promise<string> {
  const parsed = conditionsSchema.safeParse(conditions);
  if (!parsed.success)
    return refuseConditions(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  // A condition about an argument that the tool cannot have would hold for every call or for none, so it is refused.
  const published = indexTools(await store.readCatalog()).get(tool)?.tool;
  const misfits = published?.digest === toolDigest ? findMisfits(published, parsed.data, nearNames) : [];
  if (misfits.length > 0) return refuseConditions(misfits);
  const apart = findContradiction({ id: 'grant', verdict: 'allow', arguments: parsed.data });
  if (apart === undefined) return canonicalJson(parsed.data as never);
  const { at } = parsed.data[apart.other]!;
  return refuseConditions([`${apart.other}: no value at ${at} meets this and condition ${apart.one + 1}`]);
}

function refuseConditions(found: readonly string[]): never {
  const problems = found.map((problem) => problem.slice(0, 200));
  const problem = `the conditions of the grant: ${problems.join('; ').slice(0, 500)}`;
  throw planeError('APPROVAL_INVALID', { problem, problems: problems.slice(0, MAX_PROBLEMS) });
}
