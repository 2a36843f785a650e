/** Which browsers count as known: what nobody can make for themselves, for one account, until its password changes. */
import { randomBytes } from 'node:crypto'
import { createKnownBrowsers } from '@claimcheck/server/features/people/known-browsers'
import t from 'tap'

const rows = new Map([
  ['ann@example.com', { id: 'usr_ann', generation: 0 }],
  ['bob@example.com', { id: 'usr_bob', generation: 0 }],
])

function open(secret = Buffer.alloc(32, 1)) {
  const users = { byEmail: async (email: string) => rows.get(email) }
  return createKnownBrowsers({ storage: { read: { users } } as never, secrets: { derive: () => secret } })
}

function signedIn(email: string) {
  return rows.get(email)!
}

t.test('a browser is known to the accounts that signed in there, and to no others', async (t) => {
  const browsers = open()
  const kept = browsers.add(undefined, signedIn('ann@example.com'))!
  const id = await browsers.idForEmail(kept, ' Ann@Example.com ')
  t.match(id, /^[\w-]{22}$/)
  t.equal(browsers.idFor(kept, signedIn('ann@example.com')), id)
  t.equal(await browsers.idForEmail(kept, 'bob@example.com'), undefined)
  t.equal(await browsers.idForEmail(kept, 'nobody@example.com'), undefined)
  t.equal(browsers.add(kept, signedIn('ann@example.com')), undefined, 'it is there already')

  const both = browsers.add(kept, signedIn('bob@example.com'))!
  t.equal(await browsers.idForEmail(both, 'ann@example.com'), id)
  t.equal(await browsers.idForEmail(both, 'bob@example.com'), id)
  t.not(await browsers.idForEmail(browsers.add(undefined, signedIn('ann@example.com')), 'ann@example.com'), id)
})

t.test('another password ends it, and another key', async (t) => {
  const browsers = open()
  const kept = browsers.add(undefined, signedIn('ann@example.com'))!
  t.equal(await open(Buffer.alloc(32, 2)).idForEmail(kept, 'ann@example.com'), undefined)
  const before = rows.get('ann@example.com')!
  rows.set('ann@example.com', { ...before, generation: 1 })
  t.teardown(() => rows.set('ann@example.com', before))
  t.equal(await browsers.idForEmail(kept, 'ann@example.com'), undefined)
  const again = browsers.add(kept, signedIn('ann@example.com'))!
  t.ok(await browsers.idForEmail(again, 'ann@example.com'), 'after signing in with it')
})

t.test('nothing that a stranger writes is known', async (t) => {
  const browsers = open()
  const kept = browsers.add(undefined, signedIn('ann@example.com'))!
  const [id, mark] = kept.split('.') as [string, string]
  const random = randomBytes(32).toString('base64url')
  for (const wrong of [
    undefined,
    '',
    id,
    mark,
    `${id}.${random}`,
    `${'A'.repeat(22)}.${mark}`,
    `${id}.${mark}=`,
    `${id}.${Array.from({ length: 6 }, () => mark).join('.')}`,
    `${id}.${'é'.repeat(43)}`,
    `${id}\n.${mark}`,
    `${kept}.`,
  ]) {
    t.equal(await browsers.idForEmail(wrong, 'ann@example.com'), undefined, String(wrong))
  }
})

t.test('the last accounts of a browser stay known', async (t) => {
  const browsers = open()
  let kept: string | undefined
  for (let count = 0; count < 9; count++) {
    rows.set(`${count}`, { id: `usr_${count}`, generation: 0 })
    kept = browsers.add(kept, signedIn(`${count}`))
  }
  for (let count = 0; count < 9; count++) {
    t.equal((await browsers.idForEmail(kept, `${count}`)) !== undefined, count >= 4, `${count}`)
  }
})
