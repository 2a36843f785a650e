/** The field for a new password, with the lengths that it may have. */
import { PASSWORD_LENGTH } from '../../people/passwords.ts'
import { Field, type FieldProps } from './form.tsx'

/**
 * The field for a new password.
 * @param more a further sentence of the field's help
 */
export function NewPassword({ more, ...field }: Pick<FieldProps, 'name' | 'label'> & { more: string }) {
  return (
    <Field
      {...field}
      type="password"
      required
      minLength={PASSWORD_LENGTH.least}
      maxLength={PASSWORD_LENGTH.most}
      autocomplete="new-password"
      help={`At least ${PASSWORD_LENGTH.least} characters. ${more}`}
    />
  )
}
