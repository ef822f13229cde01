/** The model that is used where none is given, as the library finds it. */
export { DEMO_FOLDER, DEMO_MODEL, defaultModel } from '../../scoring/index.ts';
