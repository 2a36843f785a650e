/** The newest heads of services, in the folder that a machine gives the command line. */
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readProfiles, writeProfiles } from '@claimcheck/cli/service/profiles'
import { treeHeadMemory } from '@claimcheck/cli/service/tree-heads'
import { headField, signTreeHead } from '@claimcheck/core/log'
import { createNobleSigner } from '@claimcheck/core/receipts'
import t from 'tap'

const URL = 'https://claimcheck.example.com'
const modeOf = (path: string) => statSync(path).mode & 0o777

t.test('a head is kept in a folder of another user, whose mode stays', async (t) => {
  const root = t.testdir({ claimcheck: {} })
  const env = { XDG_CONFIG_HOME: root }
  const folder = join(root, 'claimcheck')
  chmodSync(folder, 0o770)
  const rootHash = new Uint8Array(32)
  const signer = createNobleSigner(new Uint8Array(32).fill(3))
  const head = await signTreeHead(signer, { logId: 'A'.repeat(43), treeSize: 7, rootHash, issuedAt: 0 })
  const field = headField(head)
  treeHeadMemory(env, URL).keep(field)
  t.equal(treeHeadMemory(env, URL).recall(), field)
  t.equal(modeOf(folder), 0o770, 'a folder of another user could not be changed')
  t.equal(modeOf(join(folder, 'tree-heads.json')), 0o600)

  const profiles = { current: 'work', profiles: { work: { url: URL, key: 'svc_sk_1' } } }
  writeProfiles(env, profiles)
  t.strictSame(readProfiles(env), profiles)
  t.equal(modeOf(folder), 0o700, 'that of profiles, which hold keys, is for its owner alone')
  t.strictSame(readdirSync(folder), ['profiles.json', 'tree-heads.json'], 'no draft is left')
})

t.test('a folder that is made for heads is for its owner alone', async (t) => {
  const root = t.testdir()
  mkdirSync(join(root, 'config'))
  treeHeadMemory({ XDG_CONFIG_HOME: join(root, 'config') }, URL).keep('')
  t.equal(modeOf(join(root, 'config', 'claimcheck')), 0o700)
})
