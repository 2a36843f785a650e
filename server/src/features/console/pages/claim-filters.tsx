/** The search and the filters of the claim list. */
import { VERDICTS } from '@claimcheck/core/rules'
import { paths } from '../../../web/console-paths.ts'
import { defaultSpan, type ListQuery, listPath } from '../claims/list-query.ts'
import { useWorkspace } from '../page.tsx'
import { Field, Select } from '../parts/form.tsx'
import { SearchForm } from '../parts/search-form.tsx'

interface FiltersProps {
  readonly query: ListQuery
  readonly actions: readonly string[]
  /** What people call an action; undefined where no loaded plugin checks it. */
  readonly titleOf: (action: string) => string | undefined
}

export function Filters({ query: { filter, span }, actions, titleOf }: FiltersProps) {
  const { id: workspaceId } = useWorkspace()
  const { search, ...folded } = filter
  const { verdict, state, action, agentId, target, from, to } = folded
  const listed = action === undefined || actions.includes(action) ? actions : [...actions, action]
  const named = (name: string) => {
    const title = titleOf(name)
    return [name, title === undefined ? name : `${title} (${name})`] as const
  }
  return (
    <SearchForm
      action={paths.claims(workspaceId)}
      label="Search claims by target, agent, params or ID"
      placeholder="Search target, agent, params, ID"
      value={search}
      count={Object.keys(folded).length}
      from={from}
      to={to}
      clear={Object.keys(filter).length > 0 ? listPath(workspaceId, { span }) : undefined}
    >
      {span === defaultSpan(filter) ? null : <input type="hidden" name="span" value={span} />}
      <Select name="verdict" label="Verdict" options={choices(VERDICTS)} value={verdict} />
      <Select name="state" label="State" options={choices(['queued', 'decided'])} value={state} />
      <Select name="action" label="Action" options={[['', 'Any'], ...listed.map(named)]} value={action} />
      <Field name="agent_id" label="Agent" value={agentId} autocomplete="off" spellcheck={false} />
      {target === undefined ? null : (
        <Field name="target" label="Exact target" value={target} autocomplete="off" spellcheck={false} />
      )}
    </SearchForm>
  )
}

function choices(values: readonly string[]): (readonly [string, string])[] {
  return [['', 'Any'], ...values.map((value) => [value, value] as const)]
}
