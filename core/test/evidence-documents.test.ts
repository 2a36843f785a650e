/**
 * Evidence of the actions that come with Claimcheck: what no honest host writes is refused, and what honest ones write follows.
 * Threats D1 and O4 of `security.md`.
 */
import { readFileSync } from 'node:fs'
import { checkEvidence, type EvidenceFinding, publishedRules } from '@claimcheck/core/checker'
import { type JsonObject, VERDICTS } from '@claimcheck/core/rules'
import t from 'tap'

interface Listed {
  readonly name: string
  readonly body: JsonObject
  readonly evidence: string
  readonly expected: EvidenceFinding
}

const { profiles, documents } = JSON.parse(readFileSync('test/vectors/evidence-documents.json', 'utf8')) as {
  readonly profiles: object
  readonly documents: readonly Listed[]
}
const published = publishedRules(JSON.stringify(profiles))

for (const { name, body, evidence, expected } of documents) {
  t.test(`${name}: ${expected.evidence}`, async (t) => {
    t.strictSame(checkEvidence(body, evidence, published), expected)
  })
}

t.test('each action has honest documents of each verdict that it can have, and as many that are refused', async (t) => {
  const actions = new Map<string, { verdicts: Set<unknown>; refused: number }>()
  for (const { body, expected } of documents) {
    const action = (body.claim as JsonObject).action as string
    const of = actions.get(action) ?? { verdicts: new Set(), refused: 0 }
    actions.set(action, of)
    if (expected.evidence === 'follows') of.verdicts.add((body.verdict as JsonObject).value)
    else of.refused++
  }
  t.equal(actions.size, 8)
  for (const [action, { verdicts, refused }] of actions) {
    const possible = VERDICTS.filter((verdict) => verdict !== 'late' || action !== 'http.url.status')
    t.strictSame([...verdicts].sort(), [...possible].sort(), action)
    t.ok(refused >= 6, action)
  }
})
