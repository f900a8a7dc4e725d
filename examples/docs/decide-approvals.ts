import { renderQuestion, type Approver, type Client } from 'sallyport/client';

/** What a console or a chat bot does with questions; the page shows the bodies. */
export async function review(client: Client, mayRun: (text: string) => boolean): Promise<void> {
  // #region review
  const approver: Approver = { kind: 'subject', name: 'acme/rita' };
  for (const { question } of await client.approvals.list(approver, { state: 'pending' })) {
    const { id, binding } = question;
    let shown = renderQuestion(question);
    if (shown.masked > 0) {
      const { kind } = await client.approvals.reveal(approver, id, { binding });
      if (kind === 'revealed') shown = renderQuestion(question, { revealed: true });
    }
    // Answers that the caller's person gave to the tool run too: look at both.
    const text = [shown.arguments.text, shown.answers?.text ?? ''].join('\n');
    console.log(shown.title, shown.tool, text);
    const decision = mayRun(text) ? 'allow-once' : 'deny';
    const answer = await client.approvals.decide(approver, id, { decision, binding });
    if (answer.kind !== 'decided') console.log('not decided by us:', answer.kind);
  }
  // #endregion
}

export async function grantForAWeek(client: Client, id: string): Promise<void> {
  // #region always
  const operator: Approver = { kind: 'operator', name: 'ops' };
  const { question } = await client.approvals.get(operator, id);
  await client.approvals.decide(operator, id, {
    decision: 'allow-always',
    binding: question.binding,
    grant: { arguments: 'exact', lifetimeMs: 7 * 24 * 60 * 60 * 1000, uses: 50 },
  });
  for (const grant of await client.grants.list(operator)) console.log(grant.id, grant.tool, grant.usesLeft);
  // #endregion
}

export async function narrow(client: Client, id: string): Promise<void> {
  // #region edit
  const operator: Approver = { kind: 'operator', name: 'ops' };
  const { question } = await client.approvals.get(operator, id);
  await client.approvals.decide(operator, id, {
    decision: 'allow-once',
    binding: question.binding,
    arguments: { path: 'drafts/report.txt' },
  });
  // #endregion
}

export async function hearOf(client: Client, id: string): Promise<string> {
  // #region wait
  const operator: Approver = { kind: 'operator', name: 'ops' };
  const { state, resolution } = await client.approvals.wait(operator, id, { waitMs: 10 * 60 * 1000 });
  // #endregion
  return `${state} ${resolution ?? ''}`;
}
