/** A log is bound to the file and the machine that it is on. Threat O6 of `security.md`. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { createFileBinding, isMountPoint, OTHER_FILE } from '@claimcheck/server/features/log/file-binding'
import { createSigningKeys } from '@claimcheck/server/features/log/signing/signing-keys'
import t from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { openLogGuard } from '../../support/log-guard.ts'
import { plainKeyFiles } from '../../support/plain-key-files.ts'

t.test('a file on another machine waits, unless a folder apart proves that it is the newest', async (t) => {
  const folder = t.testdir()
  const path = join(folder, 'claimcheck.db')
  const storage = await openSqlite(path)
  t.teardown(() => storage.close())
  const logGuard = openLogGuard(storage, folder)
  const config = { issuerName: 'Example', publicUrl: undefined }
  const now = () => Date.UTC(2026, 8, 25, 12)
  await createSigningKeys({ storage, vault: plainKeyFiles(folder), logGuard, now, config }).ensureLog()
  const logger = { info() {}, warn() {} }
  const settle = async (machine: string, proveNewest = false, file = path) => {
    const binding = createFileBinding(file, { storage, logger, machine })
    const log = (await storage.read.log.state())!
    return binding.settle(await binding.begin(), log, { knowLog: true, knowNewest: true, proveNewest })
  }
  t.equal(await settle('machine:one'), undefined)
  t.equal(await settle('machine:one'), undefined, 'started again')
  t.equal(await settle('machine:two'), OTHER_FILE)
  t.equal(await settle(''), undefined, 'a container has no machine of its own')
  t.equal(await settle('machine:two'), OTHER_FILE, 'and forgets none')
  t.equal(await settle('machine:two', true), undefined)
  t.equal(await settle('machine:two'), undefined, 'from then on')
  cpSync(path, `${path}.copy`)
  t.equal(await settle('machine:two', false, `${path}.copy`), OTHER_FILE)
})

t.test('the machine id of a container is one that is mounted', (t) => {
  const root = '1573 1472 0:311 / / rw,relatime - overlay overlay rw,lowerdir=/a'
  const mounted = '1601 1573 254:1 /etc/machine-id /etc/machine-id ro,relatime - ext4 /dev/vda1 rw'
  t.notOk(isMountPoint('/etc/machine-id', `${root}\n`))
  t.ok(isMountPoint('/etc/machine-id', `${root}\n${mounted}\n`))
  t.notOk(isMountPoint('/etc', `${root}\n${mounted}\n`))
  t.end()
})
