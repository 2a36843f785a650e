/** What the log stores: its keys, heads, receipts and tiles. */
import { signingKeyContext } from '../../base/sealed-contexts.ts'
import { claims } from '../../storage/claim-row.ts'
import {
  eraseEvidence,
  eraseReceipts,
  evidence,
  receipts,
  sealedSigningKeys,
  signingKeys,
  tiles,
} from '../../storage/log.ts'
import { hosts } from '../../storage/log-hosts.ts'
import { logs, treeHeads } from '../../storage/log-state.ts'
import { lostReceipts } from '../../storage/lost-receipts.ts'
import type { Stored } from '../../storage/schema.ts'
import { logMigrations } from './migrations.ts'

export const logStored: Stored = {
  tables: [
    { table: signingKeys },
    {
      table: sealedSigningKeys,
      // The key vaults hand private keys over.
      isCopied: false,
      owners: { key_id: signingKeys },
      sealed: { sealed: ([keyId]) => signingKeyContext(keyId!) },
    },
    { table: logs },
    { table: hosts, isCopied: false, isShared: true },
    { table: treeHeads, refersTo: [logs, signingKeys] },
    { table: receipts, refersTo: [claims], erase: eraseReceipts },
    { table: evidence, refersTo: [receipts], erase: eraseEvidence },
    { table: tiles },
    { table: lostReceipts },
  ],
  migrations: logMigrations,
}
