/**
 * Whatever is sent to the service, by whomever: no answer is a fault of ours. `npm run fuzz` sends ten times as much.
 * Threats A6, W6 and S1 of `security.md`.
 */
import t from 'tap'
import { runFuzz } from '../fuzz/run.ts'
import { IS_THOROUGH } from '../support/thorough.ts'

const REQUESTS = IS_THOROUGH ? 20_000 : 2000

t.test('no request is answered with a fault, with another form than is described, or not at all', async (t) => {
  const seed = Date.now() % 2 ** 32
  const { problems, statuses, forms, routes, operations } = await runFuzz({ requests: REQUESTS, seed })
  t.comment(`seed ${seed}: ${JSON.stringify(statuses)}`)
  t.strictSame(problems, [], `npm run fuzz -- --requests ${REQUESTS} --seed ${seed}`)
  t.ok(operations > 10, `${operations} operations`)
  t.ok(routes > 80, `${routes} routes`)
  t.ok(forms > 15, `${forms} forms`)
  // What is refused at the door alone would show nothing.
  for (const [kind, reached] of [
    ['api', 202],
    ['api', 200],
    ['api', 422],
    ['form', 303],
    ['page', 200],
    ['oauth', 201],
  ] as const) {
    t.ok((statuses[kind]?.[reached] ?? 0) > 0, `${kind}: ${reached}`)
  }
})
