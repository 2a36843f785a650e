/** The sites of a workspace: what is listed, and what a flood of questions costs the database. */
import { BY_SERVICE } from '@claimcheck/server/base/actor'
import { createAllowedOrigins } from '@claimcheck/server/features/workspaces/allowed-origins'
import type { Storage } from '@claimcheck/server/storage/storage'
import t from 'tap'
import { afterFile } from '../../../../test/support/after-file.ts'
import { createDatabase } from '../../../../test/support/database.ts'

const { openStorage } = await import('../../../../test/support/storage.ts')
const { loadConfig } = await import('@claimcheck/server/features')
const database = await createDatabase()
const storage = await openStorage(loadConfig({ ...database.env, LOG_LEVEL: 'silent' }, t.testdir()))
afterFile(async () => {
  await storage.close()
  await database.remove()
})
const now = () => Date.UTC(2026, 8, 25)
const service = createAllowedOrigins({ storage, now })
for (const id of ['ws_a', 'ws_b']) {
  await storage.write(async (tx) => void (await tx.workspaces.insert({ id, name: id, createdAt: now() })))
}

t.test('a site is listed as browsers write it, once, and in place of those before', async (t) => {
  await service.set('ws_a', ['https://old.example'], BY_SERVICE)
  const given = [
    'HTTPS://App.Example.com:443/',
    ' https://app.example.com',
    'http://localhost:3000',
    'https://bücher.example',
  ]
  const listed = ['http://localhost:3000', 'https://app.example.com', 'https://xn--bcher-kva.example']
  t.strictSame(await service.set('ws_a', given, BY_SERVICE), listed)
  t.strictSame(await service.list('ws_a'), listed)
  t.equal(await service.isListedBy('ws_a', 'https://app.example.com'), true)
  t.equal(await service.isListedBy('ws_b', 'https://app.example.com'), false)
  t.equal(await service.isListedBy('ws_a', 'https://old.example'), false)
})

t.test('what is no site is refused, and nothing changes', async (t) => {
  const refused = [
    ...[
      '*',
      'null',
      '',
      'https://',
      'example.com',
      'http://example.com',
      'https://a.example/path',
      'https://a.example?x',
    ],
    ...[
      'https://u:p@a.example',
      'https://a.example#x',
      'ftp://a.example',
      'file:///x',
      `https://${'a'.repeat(300)}.example`,
      'https://*.a.example',
    ],
  ]
  const before = await service.list('ws_a')
  for (const site of refused) await t.rejects(service.set('ws_a', [site], BY_SERVICE), { code: 'bad_request' }, site)
  const many = Array.from({ length: 21 }, (_, index) => `https://a${index}.example`)
  await t.rejects(service.set('ws_a', many, BY_SERVICE), { code: 'bad_request' })
  await t.rejects(service.set('ws_none', ['https://a.example'], BY_SERVICE), { code: 'not_found' })
  t.strictSame(await service.list('ws_a'), before)
})

t.test('a flood of questions is a few statements, and a broken one is not remembered', async (t) => {
  let statements = 0
  let isAway = false
  const counting = {
    read: {
      allowedOrigins: {
        listed: async (origins: readonly string[]) => {
          statements += 1
          if (isAway) throw new Error('away')
          return storage.read.allowedOrigins.listed(origins)
        },
      },
    },
  } as unknown as Storage
  const asked = createAllowedOrigins({ storage: counting, now })
  await service.set('ws_b', ['https://b.example'], BY_SERVICE)
  const flood = Array.from({ length: 1500 }, (_, index) => `https://flood-${index}.example`)
  const found = await Promise.all([...flood, ...flood, 'https://b.example', 'https://b.example'].map(asked.isListed))
  t.equal(found.filter(Boolean).length, 2)
  t.equal(statements, 4, '1,501 origins, at most 500 a statement')
  t.equal(await asked.isListed('https://b.example'), true)
  for (const origin of [
    'null',
    '*',
    'https://B.example',
    'https://b.example/',
    `https://${'a'.repeat(400)}.example`,
    '__proto__',
  ])
    t.equal(await asked.isListed(origin), false, origin)
  t.equal(statements, 4, 'what is known, and what no browser writes, is not looked up')
  isAway = true
  await t.rejects(asked.isListed('https://new.example'), /away/)
  isAway = false
  t.equal(await asked.isListed('https://new.example'), false)
})

t.test('a deleted workspace lists nothing', async (t) => {
  const { createWorkspaceService } = await import('@claimcheck/server/features/workspaces/workspaces')
  await createWorkspaceService({ storage, now }).delete('ws_b', BY_SERVICE)
  t.strictSame(await service.list('ws_b'), [])
  t.strictSame(await storage.read.allowedOrigins.listed(['https://b.example']), [])
})
