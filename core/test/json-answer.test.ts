import { DestinationError, readJson } from '@claimcheck/core/plugin'
import t from 'tap'

const MOST = 512 * 1024

t.test('JSON is read as it is', async (t) => {
  for (const text of ['{"a":[1,"\\"[{",{"b":null}]}', ' 1 ', '"ä"', '[]']) {
    t.strictSame(await readJson(new Response(text)), JSON.parse(text))
  }
  const large = `"${'a'.repeat(MOST - 2)}"`
  t.equal(((await readJson(new Response(large))) as string).length, MOST - 2)
  t.strictSame(
    await readJson(new Response('['.repeat(64) + ']'.repeat(64))),
    JSON.parse('['.repeat(64) + ']'.repeat(64)),
  )
})

const refused: [what: string, body: BodyInit | null, code?: string][] = [
  ['nothing', null],
  ['half of it', '{"a":'],
  ['more than half a mebibyte', `"${'a'.repeat(MOST - 1)}"`, 'too_large'],
  ['arrays that are too deep', '['.repeat(65) + ']'.repeat(65)],
  ['objects that are too deep', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`],
  ['bytes that are not UTF-8', Buffer.from('"\xff"', 'latin1')],
]
for (const [what, body, code = 'unexpected_response'] of refused) {
  t.test(`${what} is no answer`, async (t) => {
    await t.rejects(readJson(new Response(body, { status: 203 })), { code, status: 203 })
  })
}

t.test('brackets within text are no nesting', async (t) => {
  const text = '[['.repeat(500)
  t.equal(await readJson(new Response(JSON.stringify(`${text}\\"`))), `${text}\\"`)
})

t.test('a body that breaks off fails as it broke off, and no more of a large one is read', async (t) => {
  const broken = new ReadableStream({ pull: (controller) => controller.error(new DestinationError('timeout')) })
  await t.rejects(readJson(new Response(broken)), { code: 'timeout' })
  const ended = new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) })
  await t.rejects(readJson(new Response(ended)), { code: 'unexpected_response' })
  let pulled = 0
  const endless = new ReadableStream({
    pull(controller) {
      pulled++
      controller.enqueue(new Uint8Array(MOST / 4))
    },
  })
  await t.rejects(readJson(new Response(endless)), { code: 'too_large' })
  t.ok(pulled < 8)
})
