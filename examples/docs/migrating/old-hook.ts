import { createGate, defineHooks, type Gate, type GateApprover, type JsonObject, type Severity } from 'sallyport/gate';

interface OldEvent {
  readonly toolName: string;
  readonly params: JsonObject;
  readonly runId: string;
  readonly toolCallId: string;
}

interface OldAnswer {
  readonly params?: JsonObject;
  readonly block?: boolean;
  readonly blockReason?: string;
  readonly requireApproval?: {
    readonly title: string;
    readonly description: string;
    readonly severity?: Severity;
    readonly timeoutMs?: number;
  };
}

type OldHook = (event: OldEvent) => Promise<OldAnswer | undefined>;

export function guardedBy(beforeToolCall: OldHook, approver: GateApprover): Gate {
  // #region hook
  const guard = defineHooks({
    id: 'guard',
    hooks: [
      {
        id: 'before-tool-call',
        on: 'before_tool_call',
        async run({ tool: toolName, arguments: params, run: runId, callId: toolCallId }) {
          const said = await beforeToolCall({ toolName, params, runId, toolCallId });
          if (said?.block === true) return { block: true, reason: said.blockReason ?? 'Blocked by the guard.' };
          return {
            // There, the given members were laid over the others. `params` here would replace them all.
            ...(said?.params === undefined ? {} : { params: { ...params, ...said.params } }),
            ...(said?.requireApproval === undefined ? {} : { requireApproval: said.requireApproval }),
          };
        },
      },
    ],
  });
  const gate = createGate({ hooks: [guard], approver, identity: { subject: 'ada', agent: 'main' } });
  // #endregion
  return gate;
}

type Tools = Record<string, { execute(input: object): Promise<unknown> }>;

export function wrapAll<Own extends Tools>(gate: Gate, tools: Own): Own {
  // #region wrap
  const run = gate.openRun();
  const guarded = run.wrapTools(tools);
  // #endregion
  return guarded;
}
