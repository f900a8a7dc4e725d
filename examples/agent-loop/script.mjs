// What stands in for the model: it reads what tools answer, and decides by that what to call next. No network, the same every time.
export function* buyer() {
  const { items } = yield* read('shop.search', { word: 'lamp' });
  const dearest = items.toSorted((one, other) => other.price - one.price)[0];
  // A person is asked about this one. The call waits for the answer; the agent does nothing about it.
  const { order, total } = yield* read('shop.order', { item: dearest.id, quantity: 3 });
  // A mistake of the model, which the policy does not allow. It is told why, and what to do instead.
  const refusal = yield { tool: 'shop.refund', args: { order } };
  // The other mistake: asking again and again. It is told, and then it is stopped.
  let told = '';
  for (let times = 0; times < 10 && !told.startsWith('blocked'); times += 1) {
    told = yield { tool: 'shop.track', args: { order } };
  }
  const refund = refusal.startsWith('denied') ? 'For a refund, write to accounting@example.com.' : 'It was refunded.';
  const loop = told.startsWith('blocked') ? 'I stopped asking how far it is.' : 'I asked ten times how far it is.';
  return `Order ${order} for ${total} is placed. ${refund} ${loop}`;
}

/** Calls a tool and reads the first line of what it answered as JSON. */
function* read(tool, args) {
  const told = yield { tool, args };
  return JSON.parse(told.split('\n')[0]);
}

/** One turn after the other: `next` takes what the last tool answered, and gives the next call or the last word. */
export function playScript(script) {
  let calls = 0;
  return {
    next(told) {
      const { done, value } = script.next(told);
      if (done) return { text: value };
      calls += 1;
      return { call: { id: `call-${calls}`, ...value } };
    },
  };
}
