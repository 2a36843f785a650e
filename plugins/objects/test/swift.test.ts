// Test run: end-to-end, slow
/** Reads a real Swift by its S3 interface: signatures, odd keys, versions, uploads in parts, and keys that see less. */
import { createHash } from 'node:crypto'
import type { JsonObject } from '@claimcheck/core/plugin'
import { tryClaim } from '@claimcheck/core/testkit'
import objects from '@claimcheck/plugin-objects'
import t from 'tap'
import { findProgram } from '../../../test/support/programs.ts'
import { KEYS, PROGRAMS, REGION, Swift } from './swift.ts'

t.setTimeout(300_000)

const missing = PROGRAMS.find((program) => findProgram(program) === undefined)
if (missing !== undefined) {
  t.plan(0, `there is no ${missing}: apt-get install swift-account swift-container swift-object swift-proxy`)
  process.exit()
}

const swift = await Swift.start()
t.teardown(() => swift.close())
await swift.done('PUT', '/plain')
await swift.done('PUT', '/versioned')
const ENABLED = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
await swift.done('PUT', '/versioned?versioning', ENABLED)

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

/** One look as a user. Gives the observation, or the code of the failure as its kind. */
async function look(target: string, params: JsonObject = {}, [id, secret]: readonly [string, string] = KEYS.admin) {
  const { record } = await tryClaim({
    plugin: objects,
    provider: 's3',
    connection: { base_url: swift.url, region: REGION, access_key_id: id, secret_access_key: secret },
    claim: { action: 'storage.object.put', target, params, claimedAt: Date.now() },
  })
  return 'failure' in record ? { kind: record.failure.code } : record.observation
}

t.test('an object is found at its key, with its digest and size', async (t) => {
  for (const [key, path] of [
    ['report.csv', 'report.csv'],
    ['2026/a report+1 (ü).csv', '2026/a%20report%2B1%20%28%C3%BC%29.csv'],
    ["it's 100% *new*!", 'it%27s%20100%25%20%2Anew%2A%21'],
    ['a//b/', 'a//b/'],
  ] as const) {
    await swift.done('PUT', `/plain/${path}`, key)
    t.match(
      await look(`plain/${key}`, { sha256: sha256(key), size: Buffer.byteLength(key) }),
      { kind: 'present', differs: [], facts: { found_sha256: sha256(key) } },
      key,
    )
  }
})

t.test('another content or size differs', async (t) => {
  await swift.done('PUT', '/plain/other', 'what was put')
  t.match(await look('plain/other', { sha256: sha256('what was claimed') }), { kind: 'present', differs: ['sha256'] })
  t.match(await look('plain/other', { size: 3 }), { kind: 'present', differs: ['size'] })
})

t.test('what was never put is absent, beside keys that begin with it', async (t) => {
  await swift.done('PUT', '/plain/beside.part', 'part')
  for (const bucket of ['plain', 'versioned']) t.match(await look(`${bucket}/beside`), { kind: 'absent' }, bucket)
})

t.test('versions tell what was there before', async (t) => {
  const first = await swift.done('PUT', '/versioned/a', 'one')
  await swift.done('PUT', '/versioned/a', 'two')
  t.match(await look('versioned/a', { sha256: sha256('two') }), { kind: 'present', differs: [] })
  const replaced = await look('versioned/a', { sha256: sha256('one') })
  t.match(replaced, { kind: 'present', differs: ['sha256'], stays: [{ appeared: Object, removed: Object }] })
  const version_id = first.headers.get('x-amz-version-id')!
  t.match(await look('versioned/a', { sha256: sha256('one'), version_id }), { kind: 'present', differs: [] })
  await swift.done('DELETE', '/versioned/a')
  const deleted = await look('versioned/a', { sha256: sha256('two') })
  t.match(deleted, { kind: 'absent', facts: { deleted: true }, stays: [{ appeared: Object, removed: Object }] })
})

t.test('an upload in parts is what was put, with versions and without', async (t) => {
  const parts = ['x'.repeat(5 * 1024 * 1024), 'the end']
  for (const bucket of ['plain', 'versioned']) {
    const path = `/${bucket}/in-parts`
    const id = /<UploadId>([^<]+)/.exec(await (await swift.done('POST', `${path}?uploads`)).text())![1]!
    const listed: string[] = []
    for (const [index, part] of parts.entries()) {
      const put = await swift.done('PUT', `${path}?partNumber=${index + 1}&uploadId=${id}`, part)
      listed.push(`<Part><PartNumber>${index + 1}</PartNumber><ETag>${put.headers.get('etag')}</ETag></Part>`)
    }
    const complete = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`
    await swift.done('POST', `${path}?uploadId=${id}`, complete)
    const seen = await look(`${bucket}/in-parts`, { sha256: sha256(parts.join('')) })
    t.match(seen, { kind: 'present', differs: [], facts: { found_sha256: sha256(parts.join('')) } }, bucket)
    t.match(await look(`${bucket}/in-parts`, { sha256: sha256('another') }), { kind: 'present', differs: ['sha256'] })
  }
})

t.test('keys that see less say nothing', async (t) => {
  await swift.done('PUT', '/plain/there', 'there')
  for (const key of ['there', 'not-there']) {
    t.match(await look(`plain/${key}`, {}, KEYS.reader), { kind: 'forbidden' })
    t.match(await look(`plain/${key}`, {}, ['acme:reader', 'another secret']), { kind: 'unauthorized' })
    t.notMatch((await look(`plain/${key}`, {}, KEYS.stranger)).kind, /absent|present/)
    t.notMatch((await look(`no-such-bucket/${key}`)).kind, /absent|present/)
  }
})
