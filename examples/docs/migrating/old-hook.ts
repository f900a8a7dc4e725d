import { createGate, fromOpenClaw, type Gate, type GateApprover, type OpenClawHandler } from 'sallyport/gate';

export function guardedBy(beforeToolCall: OpenClawHandler, approver: GateApprover): Gate {
  // #region hook
  const guard = fromOpenClaw(beforeToolCall, { id: 'guard', priority: 50 });
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
