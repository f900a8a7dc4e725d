/** Where the value of an option comes from. */
export interface Source {
  readonly kind: 'flag' | 'env' | 'file' | 'default';
  /** `--folder`, `SALLYPORT_FOLDER`, `sallyport.yaml:3:9`, or empty for a default. */
  readonly where: string;
}
