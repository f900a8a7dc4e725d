// The tools. A worker loads them; the agent's own process never does.
import { defineModule, tool, ToolFailure } from 'sallyport/tool';
import { z } from 'zod';

const ITEMS = [
  { id: 'lamp-1', name: 'Desk lamp', price: 39 },
  { id: 'lamp-2', name: 'Floor lamp', price: 89 },
  { id: 'chair-1', name: 'Chair', price: 149 },
];
const orders = new Map();

function findOrder(order) {
  const found = orders.get(order);
  if (found === undefined) throw new ToolFailure(`There is no order ${order}.`, { code: 'ORDER_NOT_FOUND' });
  return found;
}

export default defineModule({
  id: 'shop',
  version: '1.0.0',
  description: 'A small shop.',
  tools: {
    search: tool({
      description: 'Finds items by a word of their name.',
      effect: 'read',
      input: z.object({ word: z.string().min(1) }),
      run: ({ word }) => ({ items: ITEMS.filter(({ name }) => name.toLowerCase().includes(word.toLowerCase())) }),
    }),
    order: tool({
      description: 'Orders an item. Gives the number of the order and what it costs.',
      input: z.object({ item: z.string(), quantity: z.int().min(1).max(100) }),
      run: ({ item, quantity }) => {
        const found = ITEMS.find(({ id }) => id === item);
        if (found === undefined) throw new ToolFailure(`There is no item ${item}.`, { code: 'ITEM_NOT_FOUND' });
        const order = `A-${orders.size + 1}`;
        orders.set(order, { state: 'being packed', total: found.price * quantity });
        return { order, total: found.price * quantity };
      },
    }),
    track: tool({
      description: 'Says how far an order is, and how many orders there are.',
      effect: 'read',
      input: z.object({ order: z.string() }),
      run: ({ order }) => ({ state: findOrder(order).state, orders: orders.size }),
    }),
    refund: tool({
      description: 'Cancels an order and pays the money back.',
      input: z.object({ order: z.string() }),
      run: ({ order }) => {
        findOrder(order).state = 'refunded';
        return { state: 'refunded' };
      },
    }),
  },
});
