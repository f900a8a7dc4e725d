// A caller or an approver of the soak, in a separate process. CLIENT holds its options as JSON. Orders arrive over IPC; each is
// retried until the store has answered. A process that is killed before gives no answer, and the sender of the order repeats it.
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '../../../../dist/exports/client.js';

const client = await connect(JSON.parse(process.env.CLIENT));

function obey(order) {
  if (order.kind === 'decide') return client.approvals.decide(order.approver, order.approval, order.decision);
  const { session, tool, args, key, waitMs } = order;
  return client.call(session, tool, args, { key, waitMs, deadlineMs: 600_000 });
}

/** While the store is away, an order can only be retried. */
async function insist(order) {
  for (;;) {
    try {
      return { answer: await obey(order) };
    } catch (error) {
      if (!/^STORE_|^REDIS_/.test(error?.code ?? '')) return { problem: `${error?.code} ${error?.stack}` };
      await pause(50);
    }
  }
}

process.on('message', async ({ id, order }) => process.send({ id, ...(await insist(order)) }));
console.log('ready');
