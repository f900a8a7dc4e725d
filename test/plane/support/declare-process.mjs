// Declares agents, each in a separate declaration, all at once. DECLARE holds the store's options and the agents as JSON.
import { connect } from '../../../dist/exports/client.js';

const { store, agents } = JSON.parse(process.env.DECLARE);
const client = await connect(store);
const declaring = Object.entries(agents).map(([name, agent]) => client.declareAgents({ [name]: agent }));
const answers = await Promise.all(declaring);
console.log(`declared ${JSON.stringify(answers)}`);
await client.close();
