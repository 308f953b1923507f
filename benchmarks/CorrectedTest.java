import java.io.*;
import weka.core.*;
import weka.experiment.*;

/** Weka's PairedCorrectedTTester on an ARFF file of results; prints the mean difference, the p-value and the verdict. */
public class CorrectedTest {
  public static void main(String[] args) throws Exception {
    PairedCorrectedTTester tester = new PairedCorrectedTTester();
    Instances results = new Instances(new BufferedReader(new FileReader(args[0])));
    tester.setDatasetKeyColumns(new Range("1"));
    tester.setRunColumn(1);
    tester.setFoldColumn(2);
    tester.setResultsetKeyColumns(new Range("4"));
    tester.setSignificanceLevel(Double.parseDouble(args[1]));
    tester.setInstances(results);
    PairedStats stats = tester.calculateStatistics(results.instance(0), 0, 1, 6);
    System.out.println(stats.differencesStats.mean + " " + stats.differencesProbability + " " + stats.differencesSignificance);
  }
}
