/** Forms: fields, tied to their labels, help and mistakes for screen readers. */
import { type ComponentChildren, createContext, type JSX } from 'preact'
import { useContext } from 'preact/hooks'
import { Prose } from '../../../web/words.tsx'

/** The context with the token of a session, which every form of the page carries. */
export const Csrf = createContext<string | undefined>(undefined)

export function CsrfField() {
  const csrf = useContext(Csrf)
  return csrf === undefined ? null : <input type="hidden" name="_csrf" value={csrf} />
}

interface Notes {
  readonly name: string
  readonly help?: ComponentChildren
  /** The mistake in the field's value. */
  readonly problem?: string
}

export interface FieldProps extends Notes {
  readonly label: string
  readonly type?: 'text' | 'email' | 'password' | 'date' | 'datetime-local'
  readonly value?: string
  readonly required?: boolean
  readonly readOnly?: boolean
  readonly autocomplete?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  /** A hint that the browser adds to its message when the value does not match the pattern. */
  readonly title?: string
  readonly multiline?: boolean
  readonly spellcheck?: boolean
  readonly inputmode?: 'numeric' | 'decimal'
  readonly step?: number
}

export function Field(props: FieldProps) {
  const { name, label, type = 'text', value, help, problem, required = false, multiline = false, ...rest } = props
  const common = { id: name, name, required, ...rest, ...useNotes(props) }
  return (
    <div class="field">
      <label for={name}>
        {label}
        {!required && <small> optional</small>}
      </label>
      {multiline ? (
        <textarea {...(common as JSX.IntrinsicElements['textarea'])} rows={3}>
          {value}
        </textarea>
      ) : (
        <input {...({ ...common, type, value } as JSX.IntrinsicElements['input'])} />
      )}
      <FieldNotes {...props} />
    </div>
  )
}

export function Select({
  label,
  options,
  value,
  ...notes
}: Notes & Pick<FieldProps, 'label' | 'value'> & { options: readonly (readonly [value: string, label: string])[] }) {
  const { name } = notes
  return (
    <div class="field">
      <label for={name}>{label}</label>
      <select id={name} name={name} {...useNotes(notes)}>
        {options.map(([option, text]) => (
          <option value={option} selected={option === value}>
            {text}
          </option>
        ))}
      </select>
      <FieldNotes {...notes} />
    </div>
  )
}

interface Ticked {
  readonly value: string
  readonly isTicked: boolean
}

export function Checkbox({ label, value, isTicked, ...notes }: Notes & Ticked & { label: string }) {
  const { name } = notes
  return (
    <div class="field">
      <div class="choice">
        <input type="checkbox" id={name} name={name} value={value} checked={isTicked} {...useNotes(notes)} />
        <label for={name}>{label}</label>
      </div>
      <FieldNotes {...notes} />
    </div>
  )
}

/** A checkbox, one of several with one name. */
export function Tick({ field, value, isTicked, children }: Ticked & { field: string; children: ComponentChildren }) {
  const id = `${field}-${value}`
  return (
    <div class="choice">
      <input type="checkbox" id={id} name={field} value={value} checked={isTicked} />
      <label for={id}>{children}</label>
    </div>
  )
}

/** The context that tells whether a field of the form has the focus already: browsers give it to one. */
const Focus = createContext<{ isGiven: boolean } | undefined>(undefined)

/** Ties a field to its `FieldNotes`, and gives the first wrong field of a form the focus. Called once for each field, in their order. */
export function useNotes({ name, help, problem }: Notes) {
  const focus = useContext(Focus)
  const isFirst = Boolean(problem) && focus?.isGiven === false
  if (focus && isFirst) focus.isGiven = true
  const described = [help ? `${name}-help` : '', problem ? `${name}-problem` : ''].filter(Boolean).join(' ')
  return {
    'aria-describedby': described || undefined,
    'aria-invalid': problem ? ('true' as const) : undefined,
    autofocus: isFirst || undefined,
  }
}

/** The help and the mistake of a field, to which `useNotes` ties it. */
export function FieldNotes({ name, help, problem }: Notes) {
  return (
    <>
      {problem && (
        <p class="mistake" id={`${name}-problem`}>
          <Prose text={problem} />
        </p>
      )}
      {help && (
        <p class="help" id={`${name}-help`}>
          {help}
        </p>
      )}
    </>
  )
}

interface PostFormProps {
  readonly action: string
  readonly children?: ComponentChildren
  readonly class?: string
}

export function PostForm({ action, children, class: className = 'form' }: PostFormProps): JSX.Element {
  return (
    <form method="post" action={action} class={className}>
      <CsrfField />
      <Focus.Provider value={{ isGiven: false }}>{children}</Focus.Provider>
    </form>
  )
}

/** Fields that are sent and not shown. */
export function HiddenFields({ fields }: { fields: readonly (readonly [name: string, value: string])[] }) {
  return fields.map(([name, value]) => <input type="hidden" name={name} value={value} />)
}

interface ActionsProps {
  readonly submit: string
  readonly danger?: boolean
  /** The text of the link that leaves the form. */
  readonly cancel?: string
  readonly href: string
}

function Buttons({ submit, danger = false, cancel = 'Cancel', href }: ActionsProps) {
  return (
    <>
      <button type="submit" class={danger ? 'danger' : undefined}>
        {submit}
      </button>
      <a class="button quiet" href={href}>
        {cancel}
      </a>
    </>
  )
}

/** The end of a form: the button that sends it, and the link that leaves it. */
export function Actions(props: ActionsProps) {
  return (
    <div class="actions">
      <Buttons {...props} />
    </div>
  )
}

interface HiddenProps {
  readonly action: string
  /** The hidden fields. */
  readonly fields?: Readonly<Record<string, string>>
}

/** A form that asks before a change. */
export function AskForm({ action, fields = {}, ...answers }: HiddenProps & ActionsProps) {
  return (
    <PostForm action={action} class="actions">
      <HiddenFields fields={Object.entries(fields)} />
      <Buttons {...answers} />
    </PostForm>
  )
}

/** A form with one button. */
export function ButtonForm({
  action,
  fields = {},
  look,
  label,
  children,
  ...form
}: HiddenProps &
  PostFormProps & {
    look?: 'danger quiet'
    /** The name of the button for screen readers. */
    label?: string
  }) {
  return (
    <PostForm action={action} {...form}>
      <HiddenFields fields={Object.entries(fields)} />
      <button type="submit" class={look ?? 'quiet'} aria-label={label}>
        {children}
      </button>
    </PostForm>
  )
}

/** A form with one button, which removes the subject of its row in a table. */
export function RowForm({ id, ...form }: { action: string; id: string; label: string; children: string }) {
  return <ButtonForm {...form} class="row" fields={{ id }} look="danger quiet" />
}
