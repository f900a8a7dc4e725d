/** The orders that every side accepts. `cpu` returns the CPU time of all threads since the start, in microseconds. */
export type CommonOrder = { readonly kind: 'cpu' } | { readonly kind: 'close' };

/** Makes this process a side: it answers orders over IPC until it is closed, and ends when its parent ends. */
export function serveOrders<Order extends { readonly kind: string }>(
  obey: (order: Order) => Promise<unknown>,
  close: () => Promise<void>,
): void {
  async function answer(order: Order | CommonOrder): Promise<unknown> {
    if (order.kind === 'cpu') {
      const { user, system } = process.cpuUsage();
      return user + system;
    }
    if (order.kind !== 'close') return obey(order as Order);
    await close();
    // The process is not forced to exit: if it has leaked a timer or a socket, it stays alive, and the leak is noticed.
    process.off('disconnect', endAlone);
    setImmediate(() => process.disconnect());
    return undefined;
  }
  process.on('message', (order: Order | CommonOrder) => {
    answer(order).then(
      (value) => process.send!({ answer: value }),
      (error: unknown) => process.send!({ problem: error instanceof Error ? error.stack : String(error) }),
    );
  });
  process.once('disconnect', endAlone);
  // A terminal sends SIGINT to the whole process group. It is ignored here: the parent closes this side, or ends and so ends it too.
  process.on('SIGINT', () => undefined);
}

function endAlone(): void {
  process.exit(1);
}
