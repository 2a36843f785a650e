/** Entries of the audit trail as a table. */
import { visible } from '@claimcheck/core/words/plain-text'
import { Table } from '../../../web/parts/table.tsx'
import { ExactTime, Time } from '../../../web/parts/values.tsx'
import type { AuditTrailPage, ShownEntry } from '../../audit-trail/audit-trail.ts'
import { accountWords, actorWords, detailWords } from '../../audit-trail/words.ts'

interface EntriesProps extends Pick<AuditTrailPage, 'entries' | 'users'> {}

export function Entries({ entries, users }: EntriesProps) {
  return (
    <Table stacks label="Entries" head={['When', 'Who', 'What', 'Details', 'From', 'Position']}>
      {entries.map((entry) => (
        <Entry entry={entry} users={users} />
      ))}
    </Table>
  )
}

interface EntryProps extends Pick<EntriesProps, 'users'> {
  readonly entry: ShownEntry
}

function Entry({ entry, users }: EntryProps) {
  const account = accountWords(entry, users)
  const details = detailWords(entry)
  return (
    <tr>
      <td>
        <Time at={entry.at} />
        <br />
        <small>
          <ExactTime at={entry.at} />
        </small>
      </td>
      <td>{visible(actorWords(entry, users))}</td>
      <td class="wide">
        {entry.words}
        {account === undefined ? null : (
          <>
            <br />
            <small>account: {visible(account)}</small>
          </>
        )}
      </td>
      <td class="wide">
        {entry.subject === null ? null : <code>{visible(entry.subject)}</code>}
        {entry.subject !== null && details !== '' ? <br /> : null}
        {details === '' ? null : visible(details)}
        {entry.subject === null && details === '' ? <span class="none">none</span> : null}
      </td>
      <td>{entry.address === null ? <span class="none">this machine</span> : <code>{entry.address}</code>}</td>
      <td>{entry.position}</td>
    </tr>
  )
}
