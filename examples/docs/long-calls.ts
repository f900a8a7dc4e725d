import { pendingText, type Client, type SessionHandle } from 'sallyport/client';

export async function startReport(client: Client, session: SessionHandle): Promise<string> {
  // #region start
  const answer = await client.call(session, 'reports.build', { year: 2026 }, { waitMs: 5000 });
  if (answer.kind === 'pending') return pendingText(answer);
  // #endregion
  return answer.outcome.kind;
}

export async function anywhereElse(client: Client, session: SessionHandle, callId: string): Promise<void> {
  // #region elsewhere
  const now = await client.result(session, callId); // how it stands: pending or settled
  const later = await client.wait(session, callId, { waitMs: 60_000 }); // waits for the outcome
  await client.cancel(session, callId); // a running tool sees its signal aborted
  await client.redirect(session, callId); // the outcome goes to the session's channel, as a message
  // #endregion
  console.log(now.kind, later.kind);
}

export async function startAndLeave(client: Client, session: SessionHandle): Promise<void> {
  // #region redirect
  await client.call(session, 'reports.build', { year: 2026 }, { redirect: {} });
  // #endregion
}
