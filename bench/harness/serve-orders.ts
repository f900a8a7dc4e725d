/** What every side can be asked. CPU is in microseconds since its start, of all its threads. */
export type CommonOrder = { readonly kind: 'cpu' } | { readonly kind: 'close' };

/** Makes this process a side: it answers orders over IPC until it is closed, and ends with its parent. */
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
    // Lets the process end by itself, so that a leak shows as a process that stays.
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
  // A terminal signals the whole group; the parent closes this side, or ends and takes it along.
  process.on('SIGINT', () => undefined);
}

function endAlone(): void {
  process.exit(1);
}
