import { doubleField, floatField, integerField, lengthDelimitedField } from './protobuf.ts';

/** The messages of event.proto and summary.proto (TensorFlow, tensorboard.compat.proto) that runs write. */

/** `wallTime` in Unix seconds. */
interface Moment {
  wallTime: number;
  step: number;
}

const event = ({ wallTime, step }: Moment, what: Buffer): Buffer =>
  Buffer.concat([doubleField(1, wallTime), integerField(2, step), what]);

/** The first event of every file. */
export const fileVersionEvent = (wallTime: number): Buffer =>
  event({ wallTime, step: 0 }, lengthDelimitedField(3, 'brain.Event:2'));

const SESSION_START = 1;

/** Says that the run goes on at `step`: readers drop what earlier files hold of this step and later ones. */
export const sessionStartEvent = (moment: Moment): Buffer =>
  event(moment, lengthDelimitedField(7, [integerField(1, SESSION_START)]));

/** Named numbers, as 32-bit floats. */
export const scalarsEvent = (moment: Moment, values: Readonly<Record<string, number>>): Buffer =>
  event(
    moment,
    lengthDelimitedField(
      5,
      Object.entries(values).map(([name, value]) =>
        lengthDelimitedField(1, [lengthDelimitedField(1, name), floatField(2, value)]),
      ),
    ),
  );

const DT_STRING = 7;

/** Text for the text plugin, which reads Markdown: a scalar tensor of one string. */
export const textEvent = (moment: Moment, name: string, text: string): Buffer => {
  const pluginData = lengthDelimitedField(1, [lengthDelimitedField(1, 'text')]);
  const tensor = [integerField(1, DT_STRING), lengthDelimitedField(2, []), lengthDelimitedField(8, text)];
  return event(
    moment,
    lengthDelimitedField(5, [
      lengthDelimitedField(1, [
        lengthDelimitedField(1, name),
        lengthDelimitedField(8, tensor),
        lengthDelimitedField(9, [pluginData]),
      ]),
    ]),
  );
};
