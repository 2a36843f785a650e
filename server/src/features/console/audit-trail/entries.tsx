/** Entries of the audit trail as a table. */
import { visible } from '@claimcheck/core/words/plain-text'
import { type Column, Table, WIDE } from '../../../web/parts/table.tsx'
import { ExactTime, Time } from '../../../web/parts/values.tsx'
import type { AuditTrailPage, ShownEntry } from '../../audit-trail/audit-trail.ts'
import { accountWords, actorWords, detailWords } from '../../audit-trail/words.ts'

export function Entries({ entries, users }: Pick<AuditTrailPage, 'entries' | 'users'>) {
  return <Table stacks label="Entries" columns={columnsWith(users)} rows={entries} />
}

function columnsWith(users: AuditTrailPage['users']): readonly Column<ShownEntry>[] {
  return [
    [
      'When',
      ({ at }) => (
        <>
          <Time at={at} />
          <br />
          <small>
            <ExactTime at={at} />
          </small>
        </>
      ),
    ],
    ['Who', (entry) => visible(actorWords(entry, users))],
    ['What', (entry) => <What words={entry.words} account={accountWords(entry, users)} />, WIDE],
    ['Details', (entry) => <Details subject={entry.subject} details={detailWords(entry)} />, WIDE],
    ['From', ({ address }) => (address === null ? <span class="none">this machine</span> : <code>{address}</code>)],
    ['Position', ({ position }) => position],
  ]
}

function What({ words, account }: { words: string; account: string | undefined }) {
  return (
    <>
      {words}
      {account !== undefined && (
        <>
          <br />
          <small>account: {visible(account)}</small>
        </>
      )}
    </>
  )
}

function Details({ subject, details }: { subject: string | null; details: string }) {
  if (subject === null && details === '') return <span class="none">none</span>
  return (
    <>
      {subject !== null && <code>{visible(subject)}</code>}
      {subject !== null && details !== '' && <br />}
      {visible(details)}
    </>
  )
}
