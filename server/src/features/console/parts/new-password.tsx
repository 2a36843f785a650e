/** The field for a new password. */
import { PASSWORD_LENGTH } from '../../people/passwords.ts'
import { Field, type FieldProps } from './form.tsx'

interface NewPasswordProps extends Pick<FieldProps, 'name' | 'label'> {
  /** A further sentence of the field's help. */
  readonly more: string
}

export function NewPassword({ name, label, more }: NewPasswordProps) {
  return (
    <Field
      name={name}
      label={label}
      type="password"
      required
      minLength={PASSWORD_LENGTH.least}
      maxLength={PASSWORD_LENGTH.most}
      autocomplete="new-password"
      help={`At least ${PASSWORD_LENGTH.least} characters. ${more}`}
    />
  )
}
