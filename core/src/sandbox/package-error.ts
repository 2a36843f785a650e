/** Codes for why the package of a plugin cannot be used, as the operator reads it after the plugin's name. */
type PackageErrorCode =
  | 'not_installed'
  | 'no_such_file'
  | 'not_exported'
  | 'not_a_plugin'
  | 'invalid_package'
  | 'forbidden_folder'
  | 'stray_link'
  | 'unlisted_file'
  | 'too_large'

export class PackageError extends Error {
  override readonly name = 'PackageError'
  readonly code: PackageErrorCode

  constructor(code: PackageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
